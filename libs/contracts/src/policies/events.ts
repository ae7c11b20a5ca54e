import { Digest, Int } from '../fields.js';
import { Policy } from './policy.js';

/** A policy is in force for every request after it, until the next version. */
export class PolicyPublished extends Policy {
  @Int(1, 1_000_000_000) version: number;
  /** Over the rules and the default. */
  @Digest() hash: string;
}

export type PolicyEvent = { readonly type: 'PolicyPublished'; readonly data: PolicyPublished };
