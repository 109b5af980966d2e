import {parseArgs} from 'node:util'
import {simulate} from './simulate.ts'

const HELP = `npm run simulate -- [--lives N] [--seed TEXT] [--json]

Plays calls on a virtual clock until so many were lived, and prints the seeds of worlds in which a rule was broken.
  --lives N    how many calls; 1000000 if it is left out
  --seed TEXT  where to begin; the same seed makes the same calls
  --world TEXT plays one world alone, by the seed that was printed
  --json       one JSON object in place of text`

/** Lives between two lines of progress. */
const STEP_LIVES = 50_000

const {values} = parseArgs({
  options: {
    lives: {type: 'string', default: '1000000'},
    seed: {type: 'string', default: 'first'},
    world: {type: 'string'},
    json: {type: 'boolean', default: false},
    help: {type: 'boolean', default: false},
  },
})
const lives = Number(values.lives)
if (values.help || !Number.isSafeInteger(lives) || lives < 1) {
  console.log(HELP)
  process.exit(values.help ? 0 : 2)
}

const failed: {readonly seed: string; readonly faults: readonly string[]}[] = []
let played = 0
let ms = 0
for (let part = 0; played < lives && failed.length === 0; part++) {
  const seed = part === 0 ? values.seed : `${values.seed}.${part}`
  const done = await simulate(seed, Math.min(STEP_LIVES, lives - played), {world: values.world})
  played += values.world ? lives : done.lives
  ms += done.ms
  failed.push(...done.failed)
  if (!values.json) console.error(`${played} lives, ${Math.round((done.lives / done.ms) * 1000)} a second`)
}
const lives_per_s = Math.round((played / ms) * 1000)
if (values.json) console.log(JSON.stringify({lives: played, ms: Math.round(ms), lives_per_s, failed}))
else {
  for (const {seed, faults} of failed) console.log(`world ${seed}:\n  ${faults.join('\n  ')}`)
  if (failed.length) console.log(`Repeat one with: npm run simulate -- --world ${failed[0]!.seed}`)
  else console.log(`${played} lives in ${(ms / 1000).toFixed(1)} s, ${lives_per_s} a second: no rule was broken`)
}
process.exit(failed.length ? 1 : 0)
