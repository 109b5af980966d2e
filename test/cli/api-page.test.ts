import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {expect, test} from 'vitest'
import {run} from './support.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/api.md'), 'utf8')

test('the command of the page prints the document, without a data directory', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-api-page-'))
  const [line] = /```sh\n(.*)\n```/.exec(page)!.slice(1)
  const {code, stdout} = await run([...line!.split(' ').slice(1), '--data-dir', join(folder, 'data')])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({openapi: '3.0.3', paths: {'/chat/completions': {}, '/api-keys': {}}})
  rmSync(folder, {recursive: true})
})
