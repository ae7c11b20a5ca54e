import type { PlaceOptions } from '../places.js';
import type { Running, ScenarioReport } from '../scenario.js';

/** A scenario that spoils its world, or needs a special one: it has one of its own, on one server. */
export interface OwnWorld {
  readonly name: string;
  /** Why it cannot be run here; undefined where it can. */
  whyNot(): string | undefined;
  /** Prepares what the world needs of the machine, and takes it away again. */
  within<Result>(play: (more: Partial<PlaceOptions>) => Promise<Result>): Promise<Result>;
  run(running: Running): Promise<ScenarioReport>;
}
