import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planCampaign, runCampaign, type Report } from './campaign.js';
import { STEPS } from './plan.js';
import { writeReport } from './report.js';
import { SELECTIONS } from './selections.js';

const SEED = 20_261_201;
const OPTIONS = { ...SELECTIONS.ci, seed: SEED };

describe('the schedule of a campaign', () => {
  it('is the same for the same seed', () => expect(planCampaign(OPTIONS)).toEqual(planCampaign(OPTIONS)));
  it('is another for another seed', () =>
    expect(planCampaign({ ...OPTIONS, seed: SEED + 1 })).not.toEqual(planCampaign(OPTIONS)));
  it('has, in ten minutes, 150 random kills and every named step three times', () => {
    const [kills, steps] = planCampaign({ seed: SEED, scenarios: ['random-kills', 'named-steps'] });
    const times = new Map<string, number>();
    for (const { target, step } of steps?.actions ?? [])
      times.set(`${target} ${step}`, (times.get(`${target} ${step}`) ?? 0) + 1);
    expect(kills?.actions.length).toBe(150);
    expect(Math.min(...times.values())).toBeGreaterThanOrEqual(3);
    expect(new Set(times.keys())).toEqual(new Set(STEPS.map(({ target, step }) => `${target} ${step}`)));
  });
});

describe('the campaign that every change has to stand', () => {
  let report: Report;
  beforeAll(async () => {
    report = await runCampaign({ ...OPTIONS, log: (line) => console.info(line) });
  }, 900_000);

  it('finds nothing', () => expect(report.violations).toEqual([]));
  it('made happen what it had planned', () => {
    for (const { name, actions } of report.schedule) {
      const scenario = report.scenarios.find((one) => one.name === name);
      expect({ name, faults: scenario?.faults, missed: scenario?.missed }).toEqual({
        name,
        faults: actions.length,
        missed: [],
      });
    }
  });
  it('had a load that something could have happened to', () => {
    for (const { name, figures } of report.scenarios) {
      expect({ name, turns: figures.turns > 0, acknowledged: figures.acknowledged > 0 }).toEqual({
        name,
        turns: true,
        acknowledged: true,
      });
      expect({
        name,
        lost: figures.lost,
        doubled: figures.doubled,
        stuck: figures.stuck,
        unknown: figures.unknown,
      }).toEqual({
        name,
        lost: 0,
        doubled: 0,
        stuck: 0,
        unknown: 0,
      });
    }
    const together = (figure: 'toolsRun' | 'byGrant' | 'deniedAgain') =>
      report.scenarios.reduce((sum, { figures }) => sum + figures[figure], 0);
    expect(together('toolsRun')).toBeGreaterThan(0);
    expect(together('byGrant')).toBeGreaterThan(0);
    expect(together('deniedAgain')).toBeGreaterThan(0);
  });

  describe('writes a report', () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdpoint-report-'));
    afterAll(() => rmSync(folder, { recursive: true }));
    it('for people and for programs', () => {
      writeReport(folder, report);
      const json = JSON.parse(readFileSync(join(folder, 'faults.json'), 'utf8')) as Report;
      expect(json.schedule).toEqual(planCampaign(OPTIONS));
      const markdown = readFileSync(join(folder, 'faults.md'), 'utf8');
      for (const { name } of report.schedule) expect(markdown).toContain(`### ${name}`);
    });
  });
});
