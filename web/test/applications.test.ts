import { describe, expect, it } from 'vitest';
import { type Application, eventText, gridOf, levelOf, type PageEvent } from '../src/applications';
import { type Deviation, deviationText, humanMetric, humanValue } from '../src/deviation';

const deviation = (over: Partial<Deviation> = {}): Deviation =>
  ({ metric: 'step_seconds', part: 'p50', statistic: 'peers', score: 3, value: 0.015, peers: 0.01, ...over });
const application = (host: string, name: string, over: Partial<Application> = {}): Application =>
  ({ host, application: name, pid: 1, owner: 1, pages: 1, metrics: 1, state: 'fresh', anomalous: false, score: 0.3, deviation: null, ...over });

describe('values', () => {
  it('have three digits, and the unit that the name says', () => {
    expect([0, 5, 0.0123456, -2.5, 12_345, 3.21e9, 0.00000238, null].map(humanValue))
      .toEqual(['0', '5', '0.0123', '-2.5', '12.3k', '3210M', '0.00000238', '–']);
    expect(humanMetric('step_seconds{a=b}', 0.015)).toBe('15.0 ms');
    expect(humanMetric('step_seconds', 0)).toBe('0');
    expect(humanMetric('uptime_seconds', 5000)).toBe('5000');
    expect(humanMetric('queue_depth', 0.015)).toBe('0.015');
  });
});

describe('a deviation in words', () => {
  it('compares a replica with its peers', () => {
    expect(deviationText(deviation())).toBe("step_seconds p50 is 15.0 ms, 1.50x its peers' (10.0 ms)");
    expect(deviationText(deviation({ metric: 'jobs', part: null, value: 9, peers: 0 }))).toBe("jobs is 9, unlike its peers' (0)");
  });
  it('says in which statistic, and which way', () => {
    expect(deviationText(deviation({ metric: 'depth', part: null, statistic: 'peak', value: 7, peers: null })))
      .toBe('depth is unusually high: 7 (peak, score 3.00)');
    expect(deviationText(deviation({ part: 'rate', statistic: 'sustained', score: -1.5, value: 20, peers: null })))
      .toBe('step_seconds rate is unusually low for a while: 20/s (sustained, score 1.50)');
    expect(deviationText(deviation({ metric: 'a', part: null, statistic: 'flat', value: 0, peers: null }))).toContain('a has stopped moving');
    const low = deviation({ metric: 'jobs', part: null, statistic: 'season', score: -1.5, value: 10, peers: null });
    expect(deviationText({ ...low, usual: 20 })).toBe('jobs is lower than usual at this time: 10; usually 20 (season, score 1.50)');
    expect(deviationText(low)).toBe('jobs is lower than usual at this time: 10 (season, score 1.50)');
  });
});

describe('an event in words', () => {
  const event: PageEvent = { time: '', kind: 'limit', began: true, host: 'h', application: 'a', pid: 1, owner: 1, statistic: null, metric: 'depth', value: 9,
    limit: 4, deviations: [] };
  it('tells limits from anomalies, and beginnings from ends', () => {
    expect(eventText(event)).toBe('depth is 9, beyond its limit 4');
    expect(eventText({ ...event, began: false })).toBe('depth is within its limit 4');
    expect(eventText({ ...event, kind: 'anomaly', began: false })).toBe('as usual again');
    expect(eventText({ ...event, kind: 'anomaly' })).toBe('unusual, mostly depth');
    expect(eventText({ ...event, kind: 'anomaly', deviations: [deviation(), deviation()] })).toContain(", and 1 more");
  });
});

describe('the grid', () => {
  it('puts what is unusual first', () => {
    const grid = gridOf([application('host-1', 'b'), application('host-10', 'a'), application('host-2', 'a'),
      application('host-10', 'c', { anomalous: true })], 10, 10);
    expect(grid.hosts).toEqual(['host-10', 'host-1', 'host-2']);
    expect(grid.rows.map(({ application: name }) => name)).toEqual(['c', 'a', 'b']);
    expect(grid.rows[1].cells.map((cell) => cell?.level ?? null)).toEqual(['usual', null, 'usual']);
  });
  it('counts what it has no room for', () => {
    const grid = gridOf(['a', 'b', 'c'].flatMap((name) => ['1', '2'].map((host) => application(host, name))), 1, 2);
    expect([grid.hosts.length, grid.rows.length, grid.moreHosts, grid.moreApplications]).toEqual([1, 2, 1, 1]);
  });
  it('joins the processes of an application', () => {
    expect(levelOf([application('h', 'a', { score: null }), application('h', 'a', { score: 0.8 })])).toBe('near');
    expect(levelOf([application('h', 'a', { score: null })])).toBe('learning');
    expect(levelOf([application('h', 'a'), application('h', 'a', { anomalous: true, score: null })])).toBe('unusual');
  });
});
