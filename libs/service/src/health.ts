import { refusal } from '#contracts/refusals';
import { declined, reply, type Reply } from '#contracts/rpc';
import { subjects } from '#contracts/subjects';
import type { LogServices } from '#event-log/handle-command';
import { Unavailable } from '#decider/unavailable';

/** Decisions can be taken: the leader of the log answers, and the clock is to be trusted. */
export async function health({ log, clock }: LogServices): Promise<Reply<{ readonly ok: true }>> {
  try {
    clock();
    await log.last(subjects.genesis);
    return reply({ ok: true });
  } catch (error) {
    if (error instanceof Unavailable) return declined(refusal('unavailable', error.message));
    throw error;
  }
}
