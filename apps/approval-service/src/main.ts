import { runService } from '#service/run-service';
import { ApprovalServiceModule } from './approval-service.module.js';

await runService('approval-service', (service) => ApprovalServiceModule.with(service));
