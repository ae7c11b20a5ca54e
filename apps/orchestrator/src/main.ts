import { runService } from '#service/run-service';
import { TurnsModule } from './turns/turns.module.js';

await runService('orchestrator', (service) => TurnsModule.with(service));
