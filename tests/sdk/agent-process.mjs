// @ts-check
import { appendFileSync } from 'node:fs';
import { Holdpoint } from '#sdk/holdpoint';

/**
 * An agent's process that dies where it is told to: right before it asks for a path, right after the answer, or while its
 * tool runs. What its tool did is a line in the ledger; that it went on with a conversation is another.
 */
const { URL: url = '', TOKEN: token = '', LEDGER: ledger = '', DIES = '', ROLE = '', CONVERSATION = '' } = process.env;
const [when, where = ''] = DIES.split(' ');

const die = () => process.kill(process.pid, 'SIGKILL');

/** @type {typeof fetch} */
const deadly = async (input, init) => {
  const hit = where !== '' && new RegExp(where).test(String(input));
  if (hit && when === 'before') die();
  const answer = await fetch(input, init);
  if (hit && when === 'after') die();
  return answer;
};

const hold = new Holdpoint({ url, token, fetch: deadly, graceSeconds: 1 });
const tool = hold.tool({
  name: 'send_email',
  execute: (/** @type {Record<string, unknown>} */ args) => {
    appendFileSync(ledger, `ran ${JSON.stringify(args)}\n`);
    if (when === 'in-tool') die();
    return { sent: true };
  },
});

if (ROLE === 'holder') {
  const asked = { conversationId: CONVERSATION, agent: { id: 'mailer' }, turnId: 't-1' };
  const outcome = await tool.call({ to: 'x@example.com' }, asked);
  appendFileSync(ledger, `went on ${outcome.status}\n`);
} else {
  const worker = hold.worker({
    tools: [tool],
    onContinue: (/** @type {import('../../libs/sdk/src/worker.ts').ContinuedTurn} */ { outcomes: [outcome] }) => {
      appendFileSync(ledger, `went on ${outcome?.status}\n`);
      return Promise.resolve();
    },
    onError: () => undefined,
  });
  process.once('SIGTERM', () => void worker.stop(1_000));
}
