import {describe, expect, test} from 'vitest'
import {exitOf} from '../../cli/fault.ts'
import {readExpiry, readNumber, readPairs, readRate, readReset, readWhole} from '../../cli/option-parsers.ts'
import {NOW_MS} from './support.ts'

test.each([
  ['90d', '2026-06-02T05:06:07.000Z'],
  ['12h', '2026-03-04T17:06:07.000Z'],
  ['30m', '2026-03-04T05:36:07.000Z'],
  ['2w', '2026-03-18T05:06:07.000Z'],
  ['2030-12-31', '2030-12-31T00:00:00.000Z'],
  ['2030-12-31T10:00:00+02:00', '2030-12-31T08:00:00.000Z'],
  ['never', null],
])('an expiry of %s is %s', (said, at) => {
  expect(readExpiry(said, NOW_MS)).toBe(at)
})

test.each(['', '90', 'd', '90 d', '-1d', '1.5h', '2030-13-01', 'tomorrow', '0d', '2020-01-01', '999999999w'])(
  'an expiry of %j is refused',
  said => {
    expect(() => readExpiry(said, NOW_MS)).toThrow(/--expires/)
  },
)

test.each([
  ['60rpm', {type: 'requests', unit: 'rpm', value: 60}],
  ['0rpd', {type: 'requests', unit: 'rpd', value: 0}],
])('a rate of %s', (said, rate) => {
  expect(readRate(said, 'requests')).toEqual(rate)
})
test.each(['60', 'rpm', '6e3rpm', '60 rpm', '-1rpm', '60rps'])('a rate of %j is refused', said => {
  expect(() => readRate(said, 'tokens')).toThrow(/no rate/)
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
  for (const said of ['', '1e3', '0x10', '-1', 'Infinity', '1,000'])
    expect(() => readNumber(said, '--budget')).toThrow(/--budget/)
  expect(readWhole('1000', '--limit', 1, 1000)).toBe(1000)
  for (const said of ['0', '1001', '1.5', '', ' 5'])
    expect(() => readWhole(said, '--limit', 1, 1000)).toThrow(/from 1 to 1000/)
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
