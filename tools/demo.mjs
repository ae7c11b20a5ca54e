// @ts-check
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { readSettings } from './settings.mjs';

/**
 * A real agent worker against a running Holdpoint: its tools read and write files in a scratch folder, only its model is
 * scripted. It asks for three calls in one turn, waits for people, runs what was approved with the approved arguments,
 * tells its model what happened, and finishes the conversation.
 */
const { host, port, dataDir } = readSettings(process.env);
const base = process.env['HOLDPOINT_URL'] ?? `http://${host}:${port}`;
const token = readFileSync(join(dataDir, 'agent-token'), 'utf8').trim();
const scratch = mkdtempSync(join(tmpdir(), 'holdpoint-demo-'));
const workerId = `demo-${process.pid}`;
const conversationId = `demo-${randomUUID().slice(0, 8)}`;

/** @type {Record<string, (args: Record<string, any>) => unknown>} */
const tools = {
  write_file: ({ name, text }) => {
    writeFileSync(join(scratch, fileName(name)), text);
    return { written: name, characters: text.length };
  },
  read_file: ({ name }) => ({ name, text: readFileSync(join(scratch, fileName(name)), 'utf8') }),
  list_files: () => ({ files: readdirSync(scratch) }),
};

/** The tools stay in their folder, whatever they are asked. @param {string} name */
function fileName(name) {
  if (!/^[\w.-]+$/.test(name) || name.startsWith('.')) throw new Error(`"${name}" is no file of the scratch folder`);
  return name;
}

const fileSchema = (/** @type {string[]} */ ...fields) => ({
  type: 'object',
  properties: Object.fromEntries(fields.map((field) => [field, { type: 'string' }])),
  required: fields,
  additionalProperties: false,
});

/** What the model wants, scripted. */
const wanted = [
  {
    toolCallId: 'call_1',
    toolName: 'write_file',
    args: { name: 'greeting.txt', text: 'Hello' },
    inputSchema: fileSchema('name', 'text'),
    description: 'Writes a greeting',
  },
  {
    toolCallId: 'call_2',
    toolName: 'write_file',
    args: { name: 'passwords.txt', text: 'hunter2' },
    inputSchema: fileSchema('name', 'text'),
    description: 'Writes a file of passwords',
  },
  {
    toolCallId: 'call_3',
    toolName: 'list_files',
    args: {},
    inputSchema: fileSchema(),
    description: 'Lists the folder',
  },
];

async function main() {
  say(`The agent works in ${scratch}`);
  const turn = await ask('/v1/turns', {
    conversationId,
    agent: { id: 'demo-agent' },
    context: { summary: 'The demo: an agent that writes and lists files.' },
    holder: { workerId, graceSeconds: 10 },
    toolCalls: wanted,
  });
  say(
    'It holds three tool calls. Edit the first, deny the second, approve the third, for example from another terminal:',
  );
  for (const line of commands(turn.approvals)) say(line);
  await untilDecided(turn.turnId);
  const { attempt, continuation, executions } = await ask(`/v1/turns/${turn.turnId}/resume`, {
    conversationId,
    workerId,
  });
  const free = new Set(
    executions.filter((/** @type {any} */ one) => one.state === 'free').map((/** @type {any} */ one) => one.approvalId),
  );
  for (const result of continuation.results) await handle(result, { attempt, mayRun: free.has(result.approvalId) });
  await ask(`/v1/turns/${turn.turnId}/end`, { conversationId, attempt, status: 'completed' });
  say('The conversation is finished.');
}

/** @param {{ approvalId: string }[]} approvals */
function commands([first, second, third]) {
  const to = (/** @type {{ approvalId: string } | undefined} */ approval, /** @type {object} */ body) =>
    `  curl -s ${base}/v1/approvals/${approval?.approvalId}/decision -H "Authorization: Bearer $(cat ${join(dataDir, 'approver-token')})" -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
  return [
    to(first, { decision: 'approve', updatedInput: { name: 'greeting.txt', text: 'Hello from a person' } }),
    to(second, { decision: 'deny', reason: 'no passwords in files' }),
    to(third, { decision: 'approve' }),
  ];
}

/** @param {string} turnId */
async function untilDecided(turnId) {
  for (;;) {
    const turn = await get(`/v1/turns/${turnId}?conversationId=${conversationId}&wait=55`);
    if (turn.status !== 'awaiting-approval') return;
    say('… waiting for decisions');
  }
}

/** @param {Record<string, any>} result @param {{ attempt: number, mayRun: boolean }} lease */
async function handle(result, { attempt, mayRun }) {
  if (!mayRun)
    return say(`${result.toolCallId} ${result.toolName}: ${result.decision}. The model is told: ${result.modelText}`);
  await ask(`/v1/approvals/${result.approvalId}/use`, { workerId, attempt, argsDigest: result.argsDigest });
  const started = Date.now();
  const outcome = execute(result.toolName, result.args);
  await ask(`/v1/approvals/${result.approvalId}/outcome`, {
    workerId,
    attempt,
    ...outcome,
    durationMs: Date.now() - started,
  });
  say(
    `${result.toolCallId} ${result.toolName}${result.edited ? ' (edited)' : ''}: ran with ${JSON.stringify(result.args)} → ${JSON.stringify(outcome)}`,
  );
}

/** @param {string} toolName @param {Record<string, any>} args */
function execute(toolName, args) {
  try {
    return { ok: true, result: tools[toolName]?.(args) ?? null };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}

/** With a key, so that an answer lost on its way is had again by asking again. @param {string} path @param {object} body @returns {Promise<any>} */
async function ask(path, body) {
  const key = randomUUID();
  for (let tries = 1; ; tries += 1) {
    const headers = { 'content-type': 'application/json', 'Idempotency-Key': key };
    const answer = await request(path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (answer && answer.status < 500) return answered(path, answer);
    if (tries === 20) throw new Error(`${base} does not answer; is "npm start" running?`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** @param {string} path @returns {Promise<any>} */
async function get(path) {
  const answer = await request(path, { headers: {} });
  return answer ? answered(path, answer) : { status: 'awaiting-approval' };
}

/** @param {string} path @param {{ method?: string, headers: Record<string, string>, body?: string }} init */
const request = (path, init) =>
  fetch(base + path, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }).catch(
    () => undefined,
  );

/** @param {string} path @param {Response} answer */
async function answered(path, answer) {
  const body = /** @type {any} */ (await answer.json());
  if (!answer.ok) throw new Error(`${path}: ${body.detail}`);
  return body;
}

/** @param {string} line */
const say = (line) => console.log(line);

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
