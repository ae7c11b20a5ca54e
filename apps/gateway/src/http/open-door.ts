import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { DynamicModule } from '@nestjs/common';
import { nestLogger } from '#service/logger';
import type { Service } from '#service/run-service';
import { guardDoor } from '../auth/door.js';
import { RateLimit } from '../auth/rate-limit.js';
import { measureRequests, serveMetrics } from '../health/metrics.js';
import { ProblemFilter } from './problem-filter.js';
import { createServer } from './server.js';

const STILL_OPEN_MS = 5_000;

type Behind = Pick<Service, 'logger' | 'callers' | 'stopping'> & {
  readonly settings: Pick<Service['settings'], 'host' | 'port' | 'metricsPort' | 'rateLimit'>;
};

export interface OpenDoor {
  readonly url: string;
  close(): Promise<void>;
}

/** Opens the door: the HTTP server with its checks and filter, and the metrics beside it. */
export async function openDoor(behind: Behind, module: DynamicModule): Promise<OpenDoor> {
  const { settings, logger, callers, stopping } = behind;
  const adapter = createServer(stopping);
  const server = adapter.getInstance();
  const registry = measureRequests(server);
  guardDoor(server, callers, new RateLimit(settings.rateLimit));
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    logger: nestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  app.useGlobalFilters(new ProblemFilter(logger));
  const metrics = await serveMetrics(registry, settings.host, settings.metricsPort);
  await app.listen(settings.port, settings.host);
  return { url: await app.getUrl(), close: () => closeDoor(app, () => metrics.close()) };
}

/** Answers what has come, lets nothing new in, and cuts off after a while whoever does not read their answer. */
async function closeDoor(app: NestFastifyApplication, closeMetrics: () => void): Promise<void> {
  closeMetrics();
  const patience = setTimeout(() => app.getHttpServer().closeAllConnections(), STILL_OPEN_MS);
  await app.close();
  clearTimeout(patience);
}
