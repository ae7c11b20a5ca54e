import { Body, Controller, Inject, Param } from '@nestjs/common';
import type { TokenId } from '#contracts/ids';
import { IssueToken } from '#contracts/tokens/commands';
import { From, type Asker } from '../auth/asker.js';
import { Deciders } from '../deciders/deciders.js';
import { On } from '../http/on.js';
import type { Changes } from '../live/changes.js';
import { CHANGES } from '../turns/await-decision.js';

const HEARD_WITHIN_MS = 1_000;

@Controller()
export class TokensController {
  constructor(
    private readonly deciders: Deciders,
    @Inject(CHANGES) private readonly changes: Changes,
  ) {}

  /** The only time that the token itself is shown. */
  @On('issueToken')
  async issue(@From() { credentials }: Asker, @Body() body: IssueToken): Promise<object> {
    const { expiresInSeconds: _, ...described } = body;
    const made = await this.deciders.approvals('IssueToken', credentials, body);
    return { ...described, ...made };
  }

  /** Once it has answered, this gateway has heard of it; others hear of it in that moment. */
  @On('revokeToken')
  async revoke(@From() { credentials }: Asker, @Param('tokenId') tokenId: TokenId): Promise<object> {
    const { seq } = await this.deciders.approvals('RevokeToken', credentials, { tokenId });
    await this.changes.reached(seq, HEARD_WITHIN_MS);
    return { id: tokenId, revoked: true, seq };
  }

  @On('me')
  me(@From() { caller }: Asker): object {
    return caller;
  }
}
