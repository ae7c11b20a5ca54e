import { argsDigest } from './digest.js';
import type { Client } from './client.js';
import type { Held } from './lease.js';
import { isProblem } from './problems.js';
import type { AnyTool, CallOutcome, Told } from './tools.js';
import type { CallResult, Execution, ToolOutcome } from './wire.js';

/** One call of a continuation that was taken. */
export interface Running {
  readonly client: Client;
  readonly held: Held;
  readonly conversationId: string;
  readonly signal: AbortSignal;
}

/** For as long as it takes: what a tool has done must be known, or a person is asked about it. */
const REPORT_PATIENCE_MS = 15 * 60_000;

/** Runs what is free to run and was not yet; gives as a value what was, and what was not approved. */
export async function runCall(
  running: Running,
  result: CallResult,
  { tool, execution }: { readonly tool: AnyTool | undefined; readonly execution: Execution | undefined },
): Promise<CallOutcome> {
  const told = toldOf(result);
  if (result.decision === 'responded') return { ...told, status: 'responded', response: result.response };
  if (result.decision !== 'approved') return { ...told, status: result.decision };
  if (execution?.state === 'executed') return outcomeOf(told, { ok: true, result: execution.result });
  if (execution?.state === 'failed') return outcomeOf(told, { ok: false, error: execution.error });
  if (!execution || !tool) throw new Error(`There is nothing to run ${result.toolName} (${result.approvalId}) with`);
  return use(running, result, tool);
}

/** The right to run is taken for the arguments that are about to be run, and for no others. */
async function use(running: Running, result: CallResult, tool: AnyTool): Promise<CallOutcome> {
  const { client, held, signal } = running;
  const told = toldOf(result);
  const { workerId, attempt } = held;
  const body = { workerId, attempt, argsDigest: await argsDigest(result.args) };
  try {
    await client.post(`/v1/approvals/${result.approvalId}/use`, body, { signal });
  } catch (error) {
    if (!isProblem(error)) throw error;
    return { ...told, modelText: error.modelText ?? error.message, status: 'refused', problem: error.name };
  }
  const began = Date.now();
  const outcome = await execute(running, result, tool);
  await report(client, result.approvalId, { workerId, attempt, ...outcome, durationMs: Date.now() - began });
  return outcomeOf(told, outcome);
}

async function execute(
  { conversationId, signal }: Running,
  { approvalId, toolCallId, args }: CallResult,
  tool: AnyTool,
): Promise<ToolOutcome> {
  try {
    const result: unknown = await tool.execute(args as never, { signal, approvalId, toolCallId, conversationId });
    return { ok: true, result: asJson(result) };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : asJson(error) };
  }
}

/** What cannot be written as JSON was done all the same. */
function asJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null') as unknown;
  } catch {
    return String(value);
  }
}

interface Reported extends ToolOutcome {
  readonly workerId: string;
  readonly attempt: number;
  readonly durationMs: number;
}

async function report(client: Client, approvalId: string, outcome: Reported): Promise<void> {
  const path = `/v1/approvals/${approvalId}/outcome`;
  const patience = { patienceMs: REPORT_PATIENCE_MS };
  try {
    await client.post(path, outcome, patience);
  } catch (error) {
    if (!isProblem(error, 'too-large', 'invalid-input')) throw error;
    const note = `It is not recorded: ${error.message}`;
    await client.post(path, { ...outcome, ...(outcome.ok ? { result: note } : { error: note }) }, patience);
  }
}

export const outcomeOf = (told: Told, { ok, result, error }: ToolOutcome): CallOutcome =>
  ok ? { ...told, status: 'executed', result } : { ...told, status: 'failed', error };

export const toldOf = (result: CallResult): Told => {
  const { approvalId, toolCallId, toolName, args, edited, reason, decidedBy, modelText } = result;
  return { approvalId, toolCallId, toolName, args, edited, reason, decidedBy, modelText };
};
