/** The tools of the campaign; what is said of them is in its policy. */
export const ORDINARY = ['send_email', 'pay', 'delete_branch', 'tag_mail'] as const;
/** Those that people give grants for; the second may run twice. */
export const GRANTED = ['read_inbox', 'sync_inbox'] as const;
/** What is put on the shelf: each call has a grant of its own, and no other is for it. */
export const SHELVED = 'archive_inbox';
export const SERVER = 'gmail';

const TWICE = ['tag_mail', 'sync_inbox'];
export const mayRunTwice = (tool: string): boolean => TWICE.includes(tool);

const ONE = { approvers: { count: 1 } };

/** One person decides, as without a policy. Tools are named whole: the checker knows no patterns and no conditions. */
export const POLICY = {
  expectedVersion: 0,
  rules: [
    { id: 'twice', tools: TWICE, then: 'require', require: ONE, idempotent: true },
    { id: 'ask-again', tools: ['delete_branch'], then: 'require', require: { ...ONE, askAgainAfterDenial: true } },
  ],
  default: ONE,
} as const;
