/** One turn that somebody opened and that must come to its end. */
export interface OpenedTurn {
  readonly conversationId: string;
  readonly turnId: string;
  readonly openedAt: number;
  ended: boolean;
}

/** What clients know of each other without asking: which turns are open, who took what. No truth, only a shorter wait. */
export class Board {
  private readonly turns = new Map<string, OpenedTurn>();
  private readonly attempts = new Map<string, number>();

  opened(conversationId: string, turnId: string): OpenedTurn {
    const turn = { conversationId, turnId, openedAt: Date.now(), ended: false };
    this.turns.set(turnId, turn);
    return turn;
  }
  ended(turnId: string): void {
    const turn = this.turns.get(turnId);
    if (turn) turn.ended = true;
    this.turns.delete(turnId);
  }
  isOpen(turnId: string): boolean {
    return this.turns.has(turnId);
  }
  open(): readonly OpenedTurn[] {
    return [...this.turns.values()];
  }
  taken(leaseId: string, attempt: number): void {
    this.attempts.set(leaseId, Math.max(attempt, this.lastAttempt(leaseId)));
  }
  lastAttempt(leaseId: string): number {
    return this.attempts.get(leaseId) ?? 0;
  }
}
