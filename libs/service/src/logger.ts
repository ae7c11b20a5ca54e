import type { LoggerService } from '@nestjs/common';
import { pino, stdSerializers, type Logger } from 'pino';
import { redact } from './redact.js';
import type { Settings } from './settings.js';

export type { Logger } from 'pino';

/** One JSON object a line on standard output. Arguments, results and tokens are never logged; what else may be a secret is redacted. */
export const createLogger = (settings: Pick<Settings, 'logLevel'>, service: string): Logger =>
  pino({
    name: service,
    level: settings.logLevel,
    formatters: { log: (fields) => redact(fields) as Record<string, unknown> },
    serializers: { err: (error: Error) => redact({ ...stdSerializers.err(error) }) },
  });

/** Nest's own messages go the same way; its chatter while starting is for debugging only. */
export function nestLogger(logger: Logger): LoggerService {
  const text = (message: unknown, ...rest: unknown[]) => [message, ...rest].map(String).join(' ');
  return {
    log: (message: unknown, ...rest: unknown[]) => logger.debug(text(message, ...rest)),
    warn: (message: unknown, ...rest: unknown[]) => logger.warn(text(message, ...rest)),
    error: (message: unknown, ...rest: unknown[]) => logger.error(text(message, ...rest)),
  };
}
