import type {Socket} from 'node:net'
import {Writable} from 'node:stream'
import {setImmediate as turn} from 'node:timers/promises'
import {expect, test} from 'vitest'
import {bunched} from '../../../src/base/egress/bunched.ts'

/** What reached each socket, in the order in which it left. */
function sockets(left: string[], ...names: string[]): Socket[] {
  return names.map(name => {
    const writev = (chunks: {chunk: Buffer}[], done: () => void) => {
      left.push(`${name} ${Buffer.concat(chunks.map(({chunk}) => chunk))}`)
      done()
    }
    const write = (chunk: Buffer, _: string, done: () => void) => writev([{chunk}], done)
    return bunched(new Writable({write, writev}) as Socket)
  })
}

test('what is written in a turn leaves behind it, each socket at once and in order', async () => {
  const left: string[] = []
  const [one, other] = sockets(left, 'one', 'other')
  one!.write('a')
  other!.write('b')
  one!.cork()
  one!.write('c')
  one!.uncork()
  expect(left).toEqual([])
  await turn()
  expect(left).toEqual(['one ac', 'other b'])
})

test('a later turn is a bunch of its own', async () => {
  const left: string[] = []
  const [one] = sockets(left, 'one')
  one!.write('a')
  await turn()
  one!.write('b')
  await turn()
  expect(left).toEqual(['one a', 'one b'])
})

test('an end does not wait, and a socket that is destroyed sends first what was written to it', async () => {
  const left: string[] = []
  const [one, gone, other] = sockets(left, 'one', 'gone', 'other')
  one!.write('a')
  gone!.write('b')
  other!.write('c')
  one!.end('d')
  gone!.destroy()
  await turn()
  expect(left).toEqual(['one ad', 'gone b', 'other c'])
})
