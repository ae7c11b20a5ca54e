import { Body, Controller, Param, Query } from '@nestjs/common';
import { EndGrantBody, GrantBody } from '#contracts/grants/commands';
import type { GrantId } from '#contracts/ids';
import { ListQuery } from '#contracts/queries';
import { From, type Asker } from '../auth/asker.js';
import { Deciders } from '../deciders/deciders.js';
import { On } from '../http/on.js';
import { Lists } from '../operations/lists.js';
import { Grants, type GrantView } from './grants.js';
import type { Preview } from './preview.js';

@Controller()
export class GrantsController {
  constructor(
    private readonly deciders: Deciders,
    private readonly lists: Lists,
    private readonly grants: Grants,
  ) {}

  @On('listGrants')
  list(@From() { caller }: Asker, @Query() query: ListQuery): Promise<object> {
    return this.lists.grants(caller, query);
  }

  @On('readGrant')
  read(@From() { caller }: Asker, @Param('grantId') grantId: GrantId): Promise<GrantView> {
    return this.grants.read(caller, grantId);
  }

  @On('issueGrant')
  async issue(@From() { caller, credentials }: Asker, @Body() body: GrantBody): Promise<object> {
    const terms = await this.grants.terms(caller, body, credentials.idempotencyKey);
    const made = await this.deciders.approvals('IssueGrant', credentials, terms);
    return { scope: body.scope, issuedBy: caller.subject, ...made };
  }

  @On('endGrant')
  async end(
    @From() { credentials }: Asker,
    @Param('grantId') grantId: GrantId,
    @Body() body: EndGrantBody,
  ): Promise<object> {
    const { seq, recorded } = await this.deciders.approvals('EndGrant', credentials, { ...body, grantId });
    return { grantId, ended: true, recorded, seq };
  }

  @On('previewGrant')
  preview(@From() { caller }: Asker, @Body() body: GrantBody): Promise<Preview> {
    return this.grants.preview(caller, body);
  }
}
