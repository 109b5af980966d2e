import {readdirSync, readFileSync} from 'node:fs'
import {describe, expect, test} from 'vitest'
import {BUILT_IN, CHECKS} from '../../src/guardrails/registry.ts'
import {callCases} from './cases-call.ts'
import {piiCases} from './cases-pii.ts'
import {serviceCases} from './cases-service.ts'
import {textCases} from './cases-text.ts'
import {checkOf, explanation, run} from './support.ts'

const ALL = [...textCases, ...callCases, ...serviceCases, ...piiCases]

describe.each(CHECKS.map(check => check.id))('%s', id => {
  const rows = ALL.filter(({check}) => BUILT_IN.find(check)?.id === id)

  test.each(rows.map(row => [`${row.kind}: ${row.name}`, row] as const))('%s', async (_, row) => {
    const attached = run([{[row.check]: row.parameters}], row)
    if (row.refused !== undefined) return expect(attached).rejects.toThrow(row.refused)
    const outcome = await attached
    const result = checkOf(outcome)
    expect(result).toMatchObject({id, verdict: row.verdict, fail_on_error: false})
    expect(explanation(result)).toContain(row.says ?? '')
    if (row.error === undefined) expect(result.error).toBeUndefined()
    else expect(result.error?.message).toContain(row.error)
    const becomes = row.becomes ?? row.body ?? null
    expect(outcome.view.body).toEqual(becomes)
    expect(result.transformed).toBe(row.becomes !== undefined)
  })

  test('the table has every kind of case', () => {
    const kinds = new Set(rows.map(({kind}) => kind))
    const check = BUILT_IN.find(id)!
    const has = (name: string) => Object.hasOwn((check.parameters as unknown as {shape: object}).shape, name)
    const always =
      check.kind === 'mutator' || id === 'default.log' ? ['pass', 'edge', 'error'] : ['pass', 'fail', 'edge', 'error']
    const wanted = [
      ...always,
      ...(has('not') ? ['not'] : []),
      ...(has('redactText') || has('redact') ? ['redaction'] : []),
    ]
    expect(wanted.filter(kind => !kinds.has(kind as 'pass'))).toEqual([])
    expect(rows.length).toBeGreaterThanOrEqual(6)
  })
})

test('every row names a check that there is', () => {
  expect(ALL.filter(({check}) => !BUILT_IN.find(check))).toEqual([])
})

test('every file of checks is in the registry', () => {
  const source = readFileSync('src/guardrails/registry.ts', 'utf8')
  expect(CHECKS.length).toBe(new Set(CHECKS.map(({id}) => id)).size)
  const forgotten = readdirSync('src/guardrails/checks').filter(name => !source.includes(`'./checks/${name}'`))
  expect(forgotten).toEqual([])
})
