import { Matches } from 'class-validator';
import { CallerId, Moment, Name, Names, Optional, Text } from '../fields.js';
import type { Instant, TokenId } from '../ids.js';

export const ROLES = ['agent', 'approver', 'operator', 'auditor', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export class TokenIssued {
  @Text(64) tokenId: TokenId;
  /** SHA-256 of the secret, hexadecimal. The secret itself is shown once and kept nowhere. */
  @Matches(/^[0-9a-f]{64}$/) secretHash: string;
  @Name() name: string;
  @Name(320) subject: string;
  @Names(5) roles: Role[];
  @Optional() @Names() groups?: string[];
  /** Where given, the token speaks for this agent only, for these servers, in these pools. */
  @Optional() @Name() agent?: string;
  @Optional() @Name(320) owner?: string;
  @Optional() @Names() servers?: string[];
  @Optional() @Names() pools?: string[];
  @Optional() @Moment() expiresAt?: Instant;
}

export class TokenRevoked {
  @Text(64) tokenId: TokenId;
}

export type TokenEvent =
  | { readonly type: 'TokenIssued'; readonly data: TokenIssued }
  | { readonly type: 'TokenRevoked'; readonly data: TokenRevoked };

/** The log's first fact: which log this is. */
export class LogOpened {
  @CallerId() epoch: string;
  @CallerId() logId: string;
}
export type LogEvent = { readonly type: 'LogOpened'; readonly data: LogOpened };
