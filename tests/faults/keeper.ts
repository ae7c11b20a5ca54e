import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '#tools/test-servers';
import { eventually, SERVICES, type ServiceName, type World } from '../support/world.js';

const KILLER = join(ROOT, 'tests/support/kill-at.mjs');
const AGAIN_MS = 500;
const STARTED_MS = 20_000;

interface Started {
  readonly instance?: string;
  readonly env?: Record<string, string>;
}

/** Keeps services running, as whatever runs them in production would, and ends them where a fault wants it. */
export class Keeper {
  private readonly ending = new Set<string>();
  private readonly wanted = new Map<string, () => void>();
  private stopped = false;
  /** Services that ended though nobody ended them; they are started again. */
  readonly endedByThemselves: string[] = [];

  constructor(readonly world: World) {
    for (const name of SERVICES) {
      this.wanted.set(name, () => this.start(name));
      this.watch(name);
    }
  }

  start(name: ServiceName, { instance = '', env = {} }: Started = {}): void {
    this.world.startService(name, { instance, env });
    this.wanted.set(name + instance, () => this.start(name, { instance, env }));
    this.watch(name + instance);
  }

  async end(name: string, signal: NodeJS.Signals): Promise<void> {
    this.ending.add(name);
    this.wanted.delete(name);
    await this.world.kill(name, signal);
    this.ending.delete(name);
  }

  /** Ends it, starts it again, and waits until it says that it has started. */
  async restart(name: string, signal: NodeJS.Signals): Promise<void> {
    const again = this.wanted.get(name);
    if (!again) throw new Error(`${name} does not run`);
    await this.end(name, signal);
    again();
    await this.untilStarted(name);
  }

  /** Those that were started beside the first of their kind. */
  async endOthers(): Promise<void> {
    const first: readonly string[] = SERVICES;
    for (const name of [...this.wanted.keys()]) if (!first.includes(name)) await this.end(name, 'SIGTERM');
  }

  /**
   * Starts it so that it ends itself at a step, after so many have passed, and leaves it ended; false where it never came to
   * it in that time.
   */
  async endAt(
    name: ServiceName,
    { step, passes }: { step: string; passes: number },
    withinMs: number,
  ): Promise<boolean> {
    for (const other of SERVICES) if (other !== name) this.startIfEnded(other);
    if (this.wanted.has(name)) await this.end(name, 'SIGKILL');
    this.ending.add(name);
    const env = { NODE_OPTIONS: `--import=${KILLER}`, KILL_AT: step, KILL_AFTER: String(passes) };
    this.world.startService(name, { env });
    const child = this.world.process(name);
    const died = await Promise.race([
      new Promise<boolean>((resolve) => child.once('exit', (_, signal) => resolve(signal === 'SIGKILL'))),
      sleep(withinMs, false, { ref: false }),
    ]);
    await this.world.kill(name);
    this.ending.delete(name);
    return died;
  }

  signal(name: string, signal: NodeJS.Signals): void {
    this.world.process(name).kill(signal);
  }

  /** Whatever was ended runs again; whatever stands still goes on. */
  async allWell(withinMs: number): Promise<void> {
    for (const name of SERVICES) this.startIfEnded(name);
    for (const name of this.wanted.keys()) this.signal(name, 'SIGCONT');
    await this.world.ready(withinMs);
  }

  stop(): void {
    this.stopped = true;
  }

  private startIfEnded(name: ServiceName): void {
    if (!this.wanted.has(name)) this.start(name);
  }

  /** Its own word in the log of the services; one that ends before is started again by the watch. */
  private async untilStarted(name: string): Promise<void> {
    const { logFile } = this.world;
    const from = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
    const { pid } = this.world.process(name);
    const hasStarted = () =>
      textFrom(logFile, from)
        .split('\n')
        .some((line) => line.includes(`"pid":${pid},`) && line.includes('"msg":"started"'));
    for (let waited = 0; waited < STARTED_MS && !hasStarted(); waited += 100) await sleep(100);
  }

  private watch(name: string): void {
    this.world.process(name).once('exit', (code, signal) => {
      if (this.stopped || this.ending.has(name)) return;
      this.endedByThemselves.push(`${name} (${signal ?? code})`);
      void eventually(() => this.startAgain(name), AGAIN_MS * 4);
    });
  }

  private async startAgain(name: string): Promise<void> {
    await sleep(AGAIN_MS);
    if (!this.stopped && !this.ending.has(name)) this.wanted.get(name)?.();
  }
}

function textFrom(file: string, from: number): string {
  const size = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) - from;
  if (size <= 0) return '';
  const bytes = Buffer.alloc(size);
  const open = openSync(file, 'r');
  readSync(open, bytes, 0, size, from);
  closeSync(open);
  return bytes.toString('utf8');
}
