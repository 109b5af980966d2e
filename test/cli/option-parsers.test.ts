import {describe, expect, test} from 'vitest'
import {exitOf} from '../../cli/fault.ts'
import {
  readExpiry,
  readMoment,
  readNumber,
  readPairs,
  readRate,
  readReset,
  readSince,
  readUntil,
  readWhole,
} from '../../cli/option-parsers.ts'
import {NOW_MS} from './support.ts'

test.each([
  ['90d', '2026-06-02T05:06:07.000Z'],
  ['12h', '2026-03-04T17:06:07.000Z'],
  ['30m', '2026-03-04T05:36:07.000Z'],
  ['2w', '2026-03-18T05:06:07.000Z'],
  ['2030-12-31', '2030-12-31T00:00:00.000Z'],
  ['2030-12-31T10:00:00+02:00', '2030-12-31T08:00:00.000Z'],
  ['never', null],
])('an expiry of %s is %s', (given, at) => {
  expect(readExpiry(given, NOW_MS)).toBe(at)
})

test.each(['', '90', 'd', '90 d', '-1d', '1.5h', '2030-13-01', 'tomorrow', '0d', '2020-01-01', '999999999w'])(
  'an expiry of %j is refused',
  given => {
    expect(() => readExpiry(given, NOW_MS)).toThrow(/--expires/)
  },
)

test.each([
  ['24h', '2026-03-03T05:06:07.000Z', '2026-03-03T05:06:07.000Z'],
  ['2026-03-04', '2026-03-04T00:00:00.000Z', '2026-03-04'],
  ['2026-03-04T05:00Z', '2026-03-04T05:00:00.000Z', '2026-03-04T05:00:00.000Z'],
  ['2026-03-04T05:00:00.5+02:00', '2026-03-04T03:00:00.500Z', '2026-03-04T03:00:00.500Z'],
])('a range from %s begins at %s, and one up to it ends at %s', (given, since, until) => {
  expect([readSince(given, NOW_MS), readUntil(given, NOW_MS)]).toEqual([since, until])
})

test.each(['', 'soon', '2026-02-30', '2026-03-05', '2026-03-04T05:07Z', '2026-03-04 05:00', '1970-01-01T00:00+01:00'])(
  'a range from or up to %j is refused',
  given => {
    expect(() => readSince(given, NOW_MS)).toThrow(/--since .*no time in the past/)
    expect(() => readUntil(given, NOW_MS)).toThrow(/--until .*no time in the past/)
  },
)

test.each(['2026-03-04T05:00', '2026-03-04T05:00:00', '2026-03-04T05:00:00.123'])(
  'a time without a zone is refused with what it could mean: %s',
  given => {
    const says = (option: string) => `${option} ${given} has no time zone: write ${given}Z for UTC, or ${given}+02:00`
    expect(() => readSince(given, NOW_MS)).toThrow(says('--since'))
    expect(() => readUntil(given, NOW_MS)).toThrow(says('--until'))
    expect(() => readMoment(given, '--from')).toThrow(says('--from'))
    expect(() => readExpiry(given, NOW_MS)).toThrow(says('--expires'))
  },
)

test.each([
  ['60rpm', {type: 'requests', unit: 'rpm', value: 60}],
  ['0rpd', {type: 'requests', unit: 'rpd', value: 0}],
])('a rate of %s', (given, rate) => {
  expect(readRate(given, 'requests')).toEqual(rate)
})
test.each(['60', 'rpm', '6e3rpm', '60 rpm', '-1rpm', '60rps'])('a rate of %j is refused', given => {
  expect(() => readRate(given, 'tokens')).toThrow(/not a rate/)
})

test('a budget starts again weekly, monthly or after days', () => {
  expect([readReset('weekly'), readReset('monthly'), readReset('30d')]).toEqual([
    {periodic_reset: 'weekly'},
    {periodic_reset: 'monthly'},
    {periodic_reset_days: 30},
  ])
  expect(() => readReset('daily')).toThrow(/--reset daily is no period/)
})

test('numbers are plain numbers', () => {
  expect(readNumber('12.50', '--budget')).toBe(12.5)
  for (const given of ['', '1e3', '0x10', '-1', 'Infinity', '1,000'])
    expect(() => readNumber(given, '--budget')).toThrow(/--budget/)
  expect(() => readNumber('-5', '--budget')).toThrow('--budget -5 is below zero: expected a number from 0 on.')
  expect(() => readNumber('five', '--budget')).toThrow('--budget five is not a number.')
  expect(readWhole('1000', '--limit', 1, 1000)).toBe(1000)
  for (const given of ['0', '1001', '1.5', '', ' 5'])
    expect(() => readWhole(given, '--limit', 1, 1000)).toThrow(/from 1 to 1000/)
})

test('a pair is split at its first equals sign, and its value is not echoed when it has none', () => {
  expect(readPairs(['team=search', 'rule=a=b', 'empty='], '--tag')).toEqual({team: 'search', rule: 'a=b', empty: ''})
  expect(() => readPairs(['secret'], '--set')).toThrow('--set takes name=value.')
})

describe('exit codes', () => {
  test.each([
    [400, 2],
    [405, 2],
    [413, 2],
    [404, 3],
    [401, 4],
    [403, 4],
    [409, 4],
    [412, 4],
    [429, 4],
    [408, 1],
    [499, 1],
    [500, 1],
    [501, 1],
    [503, 1],
  ])('%i ends with %i', (status, code) => {
    expect(exitOf(status)).toBe(code)
  })
})
