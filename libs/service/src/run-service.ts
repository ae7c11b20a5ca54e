import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import 'reflect-metadata';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Transport, type MicroserviceOptions } from '@nestjs/microservices';
import { connectBroker, type Broker, type Identity } from './broker.js';
import { Callers } from './callers.js';
import { createLogger, nestLogger, type Logger } from './logger.js';
import { readSettings, type Settings } from './settings.js';

/** What every service is made of. */
export interface Service {
  readonly broker: Broker;
  readonly settings: Settings;
  readonly callers: Callers;
  readonly logger: Logger;
  /** Aborted when the service is to stop: loops end, nothing new is begun. */
  readonly stopping: AbortSignal;
}

interface Running {
  close(): Promise<void>;
}

/** Starts a deciding service: its commands are asked over NATS, one instance of the queue group answers each. */
export const runService = (identity: Identity, moduleOf: (service: Service) => DynamicModule): Promise<void> =>
  runProcess(identity, async (service) => {
    const app = await NestFactory.createMicroservice<MicroserviceOptions>(moduleOf(service), {
      transport: Transport.NATS,
      options: { ...service.broker.natsOptions, queue: identity },
      logger: nestLogger(service.logger),
    });
    await app.listen();
    return app;
  });

/** Nothing is acknowledged before it is durable: what does not close in time, as while the broker is away, loses nothing. */
const STOPPING_MS = 5_000;

/** What every main.ts repeats: settings, connection, clean stop on a signal, and a quick end where nothing can go on. */
export async function runProcess(identity: Identity, start: (service: Service) => Promise<Running>): Promise<void> {
  const settings = settingsOrExit();
  const logger = createLogger(settings, identity);
  const broker = await connectBroker(settings, identity);
  const stop = new AbortController();
  // Every subscription listens to it, and there may be thousands.
  setMaxListeners(0, stop.signal);
  const service = {
    broker,
    settings,
    logger,
    stopping: stop.signal,
    callers: new Callers(broker.events, settings.adminToken),
  };
  const running = await start(service);
  logger.info('started');

  const stopOnce = once(async () => {
    stop.abort();
    const closed = closeAll(running, broker).catch((error: unknown) => logger.warn({ err: error }, 'closing failed'));
    const isClosed = await Promise.race([closed.then(() => true), sleep(STOPPING_MS, false)]);
    logger.info(isClosed ? 'stopped' : 'stopped without waiting longer for what did not answer');
    process.exit(0);
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.on(signal, () => void stopOnce());
  void broker.connection.closed().then((error) => {
    if (stop.signal.aborted) return;
    logger.fatal({ err: error }, 'The connection to the log is closed for good');
    process.exit(1);
  });
}

async function closeAll(running: Running, broker: Broker): Promise<void> {
  await running.close();
  await broker.close();
}

function settingsOrExit(): Settings {
  try {
    return readSettings();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(2);
  }
}

function once(run: () => Promise<void>): () => Promise<void> {
  let started: Promise<void> | undefined;
  return () => (started ??= run());
}
