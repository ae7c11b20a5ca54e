import { runProcess } from '#service/run-service';
import { startGateway } from './start-gateway.js';

await runProcess('gateway', startGateway);
