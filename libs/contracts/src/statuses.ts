export const APPROVAL_STATUSES = [
  'pending',
  'held',
  'approved',
  'executing',
  'executed',
  'failed',
  'in-doubt',
  'revoked',
  'lapsed',
  'denied',
  'responded',
  'expired',
  'cancelled',
] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

export const TURN_STATUSES = ['awaiting-approval', 'ready', 'continuing', 'completed', 'failed', 'cancelled'] as const;
export type TurnStatus = (typeof TURN_STATUSES)[number];
