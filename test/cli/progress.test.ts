import {expect, test} from 'vitest'
import {progressOn} from '../../cli/progress.ts'

function bar(more: {isTTY?: boolean; quiet?: boolean; json?: boolean} = {}) {
  const {isTTY = true, quiet = false, json = false} = more
  const written: string[] = []
  const clock = {now_ms: 0}
  const stderr = {isTTY, columns: 80, closed: false, write: (text: string) => void written.push(text)}
  return {written, clock, progress: progressOn({stderr, now: () => clock.now_ms}, {quiet, json})}
}

test('a bar is drawn on one line ten times a second at most, and taken away once', () => {
  const {written, clock, progress} = bar()
  progress.step(5_000, 20_000, 'entries')
  progress.step(6_000, 20_000, 'entries')
  clock.now_ms = 100
  progress.step(2, 1, 'sums')
  progress.end()
  progress.end()
  expect(written).toEqual([
    `\r\x1b[K${'█'.repeat(6)}${'░'.repeat(18)} 5,000/20,000 entries`,
    `\r\x1b[K${'█'.repeat(24)} 2/1 sums`,
    '\r\x1b[K',
  ])
})

test.each([{isTTY: false}, {quiet: true}, {json: true}])(
  'nothing is said to a file, a program, or who wants it quiet: %j',
  more => {
    const {written, progress} = bar(more)
    progress.step(1, 4, 'entries')
    progress.end()
    expect(written).toEqual([])
  },
)
