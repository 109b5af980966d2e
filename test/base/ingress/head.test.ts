import {setFlagsFromString} from 'node:v8'
import {runInNewContext} from 'node:vm'
import {expect, test} from 'vitest'
import {readPlainHead} from '../../../src/base/ingress/head.ts'

test('names that are kept for further requests keep nothing of the heads that they came with', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const padding = 'x'.repeat(60_000)
  collect()
  const before = process.memoryUsage().heapUsed
  for (let at = 0; at < 1000; at++) {
    const head = Buffer.from(
      `host: h\r\ncontent-length: 1\r\nx-odd-name-number-${at}: 1\r\ny-${at}-${padding.slice(0, 9000)}: 1\r\npadding: ${padding}\r\n`,
    )
    expect(readPlainHead(head.toString('latin1'))).toBeDefined()
  }
  collect()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(8 << 20)
})
