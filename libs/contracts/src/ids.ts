import { createHash } from 'node:crypto';
import { base32 } from 'rfc4648';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type Tenant = Branded<'Tenant'>;
export type TurnKey = Branded<'TurnKey'>;
export type ApprovalId = Branded<'ApprovalId'>;
export type TokenId = Branded<'TokenId'>;
export type GrantId = Branded<'GrantId'>;
/** What a continuation is taken by: the turn (kind `turn`) or one approval (kind `call`). */
export type LeaseKey = TurnKey | ApprovalId;
/** RFC 3339 UTC with milliseconds, so that instants compare as strings. */
export type Instant = Branded<'Instant'>;

export const CALLER_ID = /^[A-Za-z0-9_-]{1,128}$/;
export const TENANT = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const TURN_KEY = /^tn_[a-z2-7]{26}$/;
const APPROVAL_ID = /^ap_[a-z2-7]{26}_(0|[1-9][0-9]?)$/;
const TOKEN_ID = /^tk_[a-z2-7]{26}$/;
const GRANT_ID = /^gr_[a-z2-7]{26}$/;

export const isTenant = (text: string): text is Tenant => TENANT.test(text);
export const isTurnKey = (text: string): text is TurnKey => TURN_KEY.test(text);
export const isApprovalId = (text: string): text is ApprovalId => APPROVAL_ID.test(text);
export const isTokenId = (text: string): text is TokenId => TOKEN_ID.test(text);
export const isGrantId = (text: string): text is GrantId => GRANT_ID.test(text);

/** 26 base32 characters carry 130 bits: enough that no two inputs meet, short enough for a subject. */
export function shortDigest(...parts: readonly string[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest();
  return base32.stringify(bytes, { pad: false }).toLowerCase().slice(0, 26);
}

export const turnKeyOf = (tenant: Tenant, conversationId: string, turnId: string): TurnKey =>
  `tn_${shortDigest('turn', tenant, conversationId, turnId)}` as TurnKey;

export const approvalIdOf = (turnKey: TurnKey, index: number): ApprovalId =>
  `ap_${turnKey.slice(3)}_${index}` as ApprovalId;

export const turnKeyOfApproval = (approvalId: ApprovalId): TurnKey => `tn_${approvalId.slice(3, 29)}` as TurnKey;

export const indexOfApproval = (approvalId: ApprovalId): number => Number(approvalId.slice(30));

/** Made of what it came of: a decision's approval, or whoever issued it and their `Idempotency-Key`. */
export const grantIdOf = (tenant: Tenant, ...cause: readonly string[]): GrantId =>
  `gr_${shortDigest('grant', tenant, ...cause)}` as GrantId;

/** The same key of the same person names the same grant. */
export const grantIdOfKey = (tenant: Tenant, subject: string, idempotencyKey: string): GrantId =>
  grantIdOf(tenant, 'key', subject, idempotencyKey);

export const turnKeyOfLease = (key: LeaseKey): TurnKey => (isApprovalId(key) ? turnKeyOfApproval(key) : key);

/** People in subjects are digests of their id: no address ever stands in a subject. */
export const personDigest = (tenant: Tenant, subject: string): string =>
  shortDigest('person', tenant, samePerson(subject));

/** Identities compare in NFC, lower case (design 4.4). */
export const samePerson = (subject: string): string => subject.normalize('NFC').toLowerCase();
export const isSamePerson = (one: string, other: string): boolean => samePerson(one) === samePerson(other);

export const instant = (ms: number): Instant => new Date(ms).toISOString() as Instant;
export const later = (from: Instant, seconds: number): Instant =>
  instant(Date.parse(from) + Math.round(seconds * 1000));
export const secondsBetween = (from: Instant, to: Instant): number => (Date.parse(to) - Date.parse(from)) / 1000;
