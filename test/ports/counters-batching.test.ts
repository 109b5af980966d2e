import {expect, test, vi} from 'vitest'
import {Gather} from '../../src/ports/counters/batching.ts'

/** A store that answers when it is told to. */
function store() {
  const asked: {items: readonly string[]; answer(fault?: Error): void}[] = []
  const ask = (items: readonly string[]) =>
    new Promise<readonly string[]>((done, failed) =>
      asked.push({items, answer: fault => (fault ? failed(fault) : done(items.map(item => item.toUpperCase())))}),
    )
  return {asked, ask}
}

test('what comes while a question is under way goes together into the next, each with its own answer', async () => {
  const {asked, ask} = store()
  const gather = new Gather(ask, 1000)
  const answers = ['a', 'b', 'c'].map(item => gather.ask('one', item))
  expect(asked.map(({items}) => items)).toEqual([['a']])
  asked[0]!.answer()
  expect(await answers[0]).toBe('A')
  expect(asked.map(({items}) => items)).toEqual([['a'], ['b', 'c']])
  asked[1]!.answer()
  expect(await Promise.all(answers)).toEqual(['A', 'B', 'C'])
  void gather.ask('one', 'd')
  expect(asked).toHaveLength(3)
})

test('groups do not wait for each other, and a fault is that of its question alone', async () => {
  const {asked, ask} = store()
  const gather = new Gather(ask, 1000)
  const [one, other] = [gather.ask('one', 'a'), gather.ask('other', 'b')]
  const next = gather.ask('one', 'c')
  asked[0]!.answer(new Error('gone'))
  await expect(one).rejects.toThrow('gone')
  asked[1]!.answer()
  expect(await other).toBe('B')
  asked[2]!.answer()
  expect(await next).toBe('C')
})

test('no more than a hundred go together', async () => {
  const {asked, ask} = store()
  const gather = new Gather(ask, 1000)
  for (let n = 0; n < 151; n++) void gather.ask('one', `${n}`)
  asked[0]!.answer()
  await vi.waitFor(() => expect(asked).toHaveLength(2))
  asked[1]!.answer()
  await vi.waitFor(() => expect(asked.map(({items}) => items.length)).toEqual([1, 100, 50]))
})

test('a question that is not answered keeps those after it waiting for so long and no longer', async () => {
  vi.useFakeTimers()
  const {asked, ask} = store()
  const gather = new Gather(ask, 250)
  void gather.ask('one', 'a')
  const next = gather.ask('one', 'b')
  vi.advanceTimersByTime(249)
  expect(asked).toHaveLength(1)
  vi.advanceTimersByTime(1)
  expect(asked).toHaveLength(2)
  asked[1]!.answer()
  expect(await next).toBe('B')
  vi.useRealTimers()
})
