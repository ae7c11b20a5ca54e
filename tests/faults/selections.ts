import type { CampaignOptions } from './campaign.js';

/** Parts of the campaign that have a name: `ci` is what every change has to stand, in about three minutes. */
export const SELECTIONS = {
  ci: { minutes: 1, kills: 9, scenarios: ['random-kills', 'named-steps', 'broker', 'postgres'] },
} as const satisfies Record<string, Partial<CampaignOptions>>;

export const isSelection = (name: string): name is keyof typeof SELECTIONS => Object.hasOwn(SELECTIONS, name);
