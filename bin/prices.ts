import {existsSync, readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {parseArgs} from 'node:util'
import type {CatalogueFile} from '../src/pricing/catalogue.ts'
import {build} from './prices/build.ts'
import {fetchTexts} from './prices/packages.ts'

const HELP = `Builds src/pricing/data/catalogue.json and docs/pricing-conflicts.md from the pinned packages.

  node bin/prices.ts [--date YYYY-MM-DD]   build; the date says which dated prices the conflict report compares
  node bin/prices.ts --check               exit 1 when the committed files are not what a rebuild makes`

const root = join(import.meta.dirname, '..')
const CATALOGUE = join(root, 'src/pricing/data/catalogue.json')
const CONFLICTS = join(root, 'docs/pricing-conflicts.md')

const {values} = parseArgs({
  options: {check: {type: 'boolean'}, date: {type: 'string'}, help: {type: 'boolean', short: 'h'}},
})
if (values.help) console.log(HELP)
else process.exitCode = main(values.check ?? false, values.date)

function main(check: boolean, date: string | undefined): number {
  const committed = [CATALOGUE, CONFLICTS].map(file => (existsSync(file) ? readFileSync(file, 'utf8') : ''))
  const as_of =
    date ?? (committed[0] ? (JSON.parse(committed[0]) as CatalogueFile).as_of : new Date().toISOString().slice(0, 10))
  if (!/^\d{4}-\d{2}-\d{2}$/.test(as_of)) {
    console.error(`--date is ${as_of}; expected YYYY-MM-DD`)
    return 2
  }
  const {catalogue, conflicts} = build(fetchTexts(join(root, '.cross/prices')), as_of)
  if (check) {
    const stale = [CATALOGUE, CONFLICTS].filter((_, index) => committed[index] !== [catalogue, conflicts][index])
    for (const file of stale) console.error(`${file} is not what a rebuild makes; run: node bin/prices.ts`)
    if (stale.length === 0) console.log('The catalogue and the conflict report are what a rebuild makes.')
    return stale.length === 0 ? 0 : 1
  }
  writeFileSync(CATALOGUE, catalogue)
  writeFileSync(CONFLICTS, conflicts)
  const {models} = JSON.parse(catalogue) as CatalogueFile
  const pairs = Object.values(models).reduce((sum, rows) => sum + Object.keys(rows).length, 0)
  console.log(
    `${pairs} models of ${Object.keys(models).length} providers, ${Math.ceil(catalogue.length / 1024)} KB, as of ${as_of}`,
  )
  return 0
}
