import { parseArgs } from 'node:util';
import { runCampaign } from './campaign.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seed: { type: 'string', default: '1' },
    kills: { type: 'string' },
    cluster: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});

const report = await runCampaign({
  seed: Number(values.seed),
  ...(values.minutes === undefined ? {} : { minutes: Number(values.minutes) }),
  ...(values.kills === undefined ? {} : { kills: Number(values.kills) }),
  ...(values.only === undefined ? {} : { scenarios: values.only.split(',') }),
  cluster: values.cluster,
  log: (line) => console.log(line),
});
for (const { schedule: _, ...rest } of [report]) console.log(JSON.stringify(rest, undefined, 2));
process.exitCode = report.violations.length === 0 ? 0 : 1;
