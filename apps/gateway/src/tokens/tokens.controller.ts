import { Body, Controller, Param } from '@nestjs/common';
import type { TokenId } from '#contracts/ids';
import { IssueToken } from '#contracts/tokens/commands';
import { From, type Asker } from '../auth/asker.js';
import { Deciders } from '../deciders/deciders.js';
import { On } from '../http/on.js';

@Controller()
export class TokensController {
  constructor(private readonly deciders: Deciders) {}

  /** The only time that the token itself is shown. */
  @On('issueToken')
  async issue(@From() { credentials }: Asker, @Body() body: IssueToken): Promise<object> {
    const { expiresInSeconds: _, ...described } = body;
    const made = await this.deciders.approvals('IssueToken', credentials, body);
    return { ...described, ...made };
  }

  @On('revokeToken')
  async revoke(@From() { credentials }: Asker, @Param('tokenId') tokenId: TokenId): Promise<object> {
    const { seq } = await this.deciders.approvals('RevokeToken', credentials, { tokenId });
    return { id: tokenId, revoked: true, seq };
  }

  @On('me')
  me(@From() { caller }: Asker): object {
    return caller;
  }
}
