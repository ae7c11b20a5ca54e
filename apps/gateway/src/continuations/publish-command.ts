import type { ContinuationCommand, ContinueConversation } from '#contracts/continuations/events';
import type { Actor } from '#contracts/envelope';
import { instant, shortDigest, type Tenant } from '#contracts/ids';
import { continuationSubject } from '#contracts/subjects';
import type { Clock } from '#event-log/handle-command';
import { Unavailable } from '#decider/unavailable';
import { LogFull, type Log } from '#event-log/log';

export interface Commands {
  readonly commands: Log<ContinuationCommand>;
  readonly clock: Clock;
}

export interface Publication {
  readonly tenant: Tenant;
  readonly command: ContinueConversation;
  /** The fact that lets the conversation go on, or whoever found it missing. */
  readonly causationId: string;
}

const GATEWAY: Actor = { kind: 'service', id: 'gateway', via: 'reaction:approval-closed' };

/** Says whether it was this call that wrote it. Write-once: whoever else wrote it, wrote the same. */
export async function publishCommand(to: Commands, { tenant, command, causationId }: Publication): Promise<boolean> {
  const appended = await to.commands.append({
    tenant,
    subject: continuationSubject(tenant, command),
    event: { type: 'ContinueConversation', data: command },
    eventId: `cc_${shortDigest('continue', tenant, command.key)}`,
    occurredAt: instant(to.clock()),
    correlationId: command.conversationId,
    causationId,
    actor: GATEWAY,
  });
  if (appended.is === 'full') throw new LogFull(`No continuation can be written: ${appended.why}`);
  if (appended.is === 'unclear')
    throw new Unavailable(`It is not known whether a continuation is written: ${appended.why}`);
  return appended.is === 'stored';
}
