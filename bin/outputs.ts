import {existsSync, readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {z} from 'zod'
import {outputName} from '../src/providers/outputs/names.ts'
import {readLiteralAfter} from './prices/literal.ts'
import {fetchTexts} from './prices/packages.ts'

const root = join(import.meta.dirname, '..')
const FILE = join(root, 'src/providers/outputs/most.json')
const models = z.record(
  z.string(),
  z.record(z.string(), z.object({id: z.string().min(1), maxTokens: z.int().positive()})),
)

/**
 * Builds src/providers/outputs/most.json from the pinned package of prices that says it; with --check, fails when it is
 * stale.
 */
const text = build(fetchTexts(join(root, '.cross/prices'))['pi-ai'][0]!)
if (!process.argv.includes('--check')) writeFileSync(FILE, text)
else if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== text) {
  console.error(`${FILE} is not what a rebuild makes; run: node bin/outputs.ts`)
  process.exitCode = 1
}

/** Of a model that several providers serve, the most that one of them lets it answer. */
function build(source: string): string {
  const most = new Map<string, number>()
  for (const group of Object.values(models.parse(readLiteralAfter(source, /^export const MODELS = /m)))) {
    for (const {id, maxTokens} of Object.values(group)) {
      const name = outputName(id)
      most.set(name, Math.max(most.get(name) ?? 0, maxTokens))
    }
  }
  const lines = [...most.keys()].sort().map(name => `  ${JSON.stringify(name)}: ${most.get(name)}`)
  return `{\n${lines.join(',\n')}\n}\n`
}
