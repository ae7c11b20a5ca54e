import { ArrayMinSize, ArrayUnique, IsArray, IsIn } from 'class-validator';
import { Int, Name, Names, Optional, Text } from '../fields.js';
import { TENANT, type TokenId } from '../ids.js';
import { Matches } from 'class-validator';
import { ROLES, type Role } from './events.js';

/** `POST /v1/tokens`. */
export class IssueToken {
  @Name() name: string;
  @Name(320) subject: string;
  @IsArray() @ArrayMinSize(1) @ArrayUnique() @IsIn(ROLES, { each: true }) roles: Role[];
  @Optional() @Names() groups?: string[];
  @Optional() @Name() agent?: string;
  @Optional() @Name(320) owner?: string;
  @Optional() @Names() servers?: string[];
  @Optional() @Names() pools?: string[];
  @Optional()
  @Matches(TENANT, { message: 'must begin with a letter or digit; letters, digits, "_" and "-" only' })
  tenant?: string;
  @Optional() @Int(1, 3_153_600_000) expiresInSeconds?: number;
}

export class RevokeToken {
  @Text(64) tokenId: TokenId;
}
