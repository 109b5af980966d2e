import {readdirSync, readFileSync} from 'node:fs'
import {expect, test} from 'vitest'
import {FACTS, LEFT_OUT} from './facts.ts'

test('every fact is one test, and none is left out besides', () => {
  const files = readdirSync(import.meta.dirname).filter(file => file.endsWith('.test.ts'))
  const response = files.flatMap(file =>
    [...readFileSync(`${import.meta.dirname}/${file}`, 'utf8').matchAll(/\bfact\(\s*'([\d.]+)',\s*'([^']+)'/g)].map(
      ([, release, words]) => `${release}: ${words}`,
    ),
  )
  const known = Object.entries(FACTS).flatMap(([release, facts]) => facts.map(words => `${release}: ${words}`))
  expect(response.sort()).toEqual([...known].sort())
  expect(
    known.filter(each =>
      Object.entries(LEFT_OUT).some(([release, facts]) =>
        Object.keys(facts).some(words => each === `${release}: ${words}`),
      ),
    ),
  ).toEqual([])
})
