import { indexOfApproval, isApprovalId, type LeaseKey } from '#contracts/ids';
import type { Caller } from '#contracts/roles';
import { continuationOf, type Continuation } from '#fold/continuation';
import type { PoliciesInForce } from '#policy/in-force';
import { executionsOf, policyWhereInDoubt, type Execution } from '#policy/run-again';
import type { ReadTurns } from './read-turns.js';

export interface Taken {
  readonly executions: readonly Execution[];
  readonly continuation: Continuation;
}

/** What a worker is told of the continuation that it took. */
export class ReadTaken {
  constructor(
    private readonly turns: ReadTurns,
    private readonly policies: PoliciesInForce,
  ) {}

  /** What had been executed is read after the lease was taken: of what must run once, nobody else can execute any more. */
  async after(caller: Caller, key: LeaseKey, seq: number): Promise<Taken> {
    const whole = await this.turns.after(caller, key, seq);
    const policy = await policyWhereInDoubt(this.policies, caller.tenant, whole);
    const index = isApprovalId(key) ? indexOfApproval(key) : undefined;
    return {
      executions: executionsOf({ ...whole, policy }, index),
      continuation: continuationOf(whole.turn, whole.approvals, index),
    };
  }
}
