import { later, type Instant } from '#contracts/ids';
import type { Decision } from './approval.js';

const DAY = 86_400;

/** Until when an approval can be used: its decision says so; those from before policies were for a day. */
export const usableUntil = ({ usableUntil: said, at }: Pick<Decision, 'usableUntil' | 'at'>): Instant =>
  said ?? later(at, DAY);
