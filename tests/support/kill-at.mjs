import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ServerResponse } from 'node:http';

/**
 * Loaded into a service under test with `--import`: ends it, as `kill -9` would, at one named step. The product itself knows
 * nothing of it. The step is in KILL_AT: `before-append:<Event>`, `after-append:<Event>`, `before-ack`, `after-ack`,
 * `before-reply`, `before-answer`, `before-commit`, `after-commit`. With KILL_AFTER it lets that many pass first.
 */
const [step = '', type] = (process.env.KILL_AT ?? '').split(':');
const require = createRequire(import.meta.url);
let toPass = Number(process.env.KILL_AFTER ?? 0);
const die = () => {
  if (toPass-- <= 0) process.kill(process.pid, 'SIGKILL');
};

function wrap(prototype, method, around) {
  const original = prototype[method];
  prototype[method] = function (...args) {
    return around.call(this, () => original.apply(this, args), args);
  };
}

if (step.endsWith('-append')) {
  const { JetStreamClientImpl } = require('@nats-io/jetstream/internal');
  wrap(JetStreamClientImpl.prototype, 'publish', async (go, [, , options]) => {
    const isIt = options?.headers?.get('ce-type') === `holdpoint.${type}.v1`;
    if (isIt && step === 'before-append') die();
    const result = await go();
    if (isIt) die();
    return result;
  });
}

if (step.endsWith('-ack')) {
  const { JsMsgImpl } = require(join(dirname(require.resolve('@nats-io/jetstream')), 'jsmsg.js'));
  wrap(JsMsgImpl.prototype, 'ack', (go) => {
    if (step === 'before-ack') die();
    go();
    setTimeout(die, 20);
  });
}

if (step === 'before-reply') {
  const { MsgImpl } = require(join(dirname(require.resolve('@nats-io/nats-core')), 'msg.js'));
  wrap(MsgImpl.prototype, 'respond', function (go) {
    if (this.subject.endsWith(`.${type}`)) die();
    return go();
  });
}

if (step === 'before-answer')
  wrap(ServerResponse.prototype, 'writeHead', function (go) {
    if (this.req?.method === 'POST' && this.req.url?.endsWith(type)) die();
    return go();
  });

if (step.endsWith('-commit')) {
  const { Client } = require('pg');
  wrap(Client.prototype, 'query', function (go, [query]) {
    const commits = typeof query === 'string' && /^commit/i.test(query);
    if (commits && step === 'before-commit') die();
    const result = go();
    if (commits) void Promise.resolve(result).then(die);
    return result;
  });
}
