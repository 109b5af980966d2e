import type {CatalogueRow} from '../../src/pricing/catalogue.ts'
import {type PricePeriod, RATE_NAMES, type Rates, type Terms} from '../../src/pricing/price.ts'
import type {Conflict, Entry, Merged} from './merge.ts'
import {type Refused, SOURCE_NAMES, SOURCES} from './offer.ts'

/**
 * The text of `catalogue.json`: one model a line, everything sorted, so that a diff shows what changed and nothing
 * else.
 */
export function writeCatalogue(merged: Merged, as_of: string): string {
  const providers = [...merged.shelves].filter(([, entries]) => entries.length > 0).sort(byKey)
  const shelves = providers.map(([provider, entries]) => {
    const rows = entries
      .map(entry => [entry.model, {...toRow(entry), ...geographiesOf(provider, entry.model)}] as const)
      .sort(byKey)
    const lines = rows.map(([model, row]) => `      ${JSON.stringify(model)}: ${JSON.stringify(row)}`)
    return `    ${JSON.stringify(provider)}: {\n${lines.join(',\n')}\n    }`
  })
  const sources = SOURCE_NAMES.map(name => `    ${JSON.stringify(name)}: ${JSON.stringify(SOURCES[name])}`)
  return `{
  "as_of": ${JSON.stringify(as_of)},
  "sources": {
${sources.join(',\n')}
  },
  "models": {
${shelves.join(',\n')}
  }
}
`
}

/**
 * Served in the US alone, models from Claude Opus 4.6 on cost a tenth more a token at their maker
 * (platform.claude.com/docs, Data residency, pricing).
 */
const US_ALONE = /^claude-(?:opus-4-[6-9]|sonnet-4-[6-9]|(?:opus|sonnet|haiku|fable)-[5-9](?:-\d)?)$/

/**
 * OpenAI's hosts by region; they cost a tenth more a token for models released from March 5, 2026 on, and no more for
 * others (developers.openai.com, Data residency).
 */
const OPENAI_REGIONS = ['ae', 'au', 'ca', 'eu', 'gb', 'in', 'jp', 'kr', 'sg', 'us']
const UPLIFTED = /^gpt-(?:5\.[4-9]|[6-9]|image-2|realtime-2)/
const BEFORE =
  /^(?:ft:)?(?:gpt-(?:3\.5|4|5(?:\.[1-3])?(?:-|$)|audio|image-1|realtime(?:-mini)?$)|o[134]-?|text-|whisper|ada|babbage|curie|davinci|computer-use|codex-mini|chatgpt-4o)/

/** xAI's host in the United States serves this model, at a tenth more a token (docs.x.ai, Regional endpoints). */
const XAI_US = /^grok-4\.6$/

function geographiesOf(provider: string, model: string): Pick<CatalogueRow, 'geographies'> {
  if (provider === 'anthropic' && US_ALONE.test(model)) return {geographies: {us: 1.1}}
  if (provider === 'x-ai' && XAI_US.test(model)) return {geographies: {us: 1.1}}
  if (provider !== 'openai') return {}
  const by = UPLIFTED.test(model) ? 1.1 : BEFORE.test(model) ? 1 : null
  return by === null ? {} : {geographies: Object.fromEntries(OPENAI_REGIONS.map(region => [region, by]))}
}

/** The text of `docs/pricing-conflicts.md`. */
export function writeConflicts(merged: Merged, refused: readonly Refused[], as_of: string): string {
  const entries = [...merged.shelves.values()].flat()
  const won = SOURCE_NAMES.map(
    name =>
      `| ${name} | \`${SOURCES[name].package}\` ${SOURCES[name].version} | ${entries.filter(entry => entry.offer.source === name).length} | ${merged.repeats.get(name) ?? 0} |`,
  )
  const overruled = merged.conflicts.filter(conflict => !conflict.apart)
  const apart = merged.conflicts.filter(conflict => conflict.apart)
  return `# Where the price sources disagree

Written by \`node bin/prices.ts\`; do not edit. Prices are US dollars per million tokens, as in force on ${as_of}.
${entries.length} models of ${[...merged.shelves.values()].filter(shelf => shelf.length > 0).length} providers:

| source | package | prices taken | agreeing, not needed |
| --- | --- | --- | --- |
${won.join('\n')}

## Overruled

Two sources price the same model and differ by more than 1 %. The earlier source of the list above wins, because it is dated
and maintained model by model. The later sources are snapshots of larger lists. ${overruled.length} prices of ${modelsOf(overruled)} models.

${table(overruled, 'taken', 'not taken')}

## Kept apart

A rule of an earlier source ("every id that starts with ...") also matches an id that has a row of its own in a later
source, at another price. The id differs by more than a date or a version, so the rule is too loose. The id gets the
price of the later source.
${apart.length} prices of ${modelsOf(apart)} models.

${table(apart, 'of the rule', 'taken for the id')}

## Refused

Prices that are not a whole number of pico-dollars, or that are obvious mistakes. ${refused.length} prices.

| provider | model | price | source | reason |
| --- | --- | --- | --- | --- |
${refused
  .map(({provider, model, what, source, why}) => `| ${provider} | ${model} | ${what} | ${source} | ${why} |`)
  .sort()
  .join('\n')}
`
}

function table(conflicts: readonly Conflict[], first: string, second: string): string {
  const lines = conflicts.map(({provider, model, rate, winner, loser}) => {
    const id = loser.id.toLowerCase() === model.toLowerCase() ? '' : ` (as ${loser.id})`
    return `| ${provider} | ${model} | ${rate} | ${perMillion(winner.pico)} ${winner.source} | ${perMillion(loser.pico)} ${loser.source}${id} |`
  })
  return `| provider | model | rate | ${first} | ${second} |\n| --- | --- | --- | --- | --- |\n${[...new Set(lines)].sort().join('\n')}`
}

function modelsOf(conflicts: readonly Conflict[]): number {
  return new Set(conflicts.map(({provider, model, loser}) => `${provider}\n${model}\n${loser.id}`)).size
}

/** Pico-dollars a token are micro-dollars a million tokens. */
function perMillion(pico: number): number {
  return pico / 1_000_000
}

function toRow({offer, aliases}: Entry): CatalogueRow {
  const extra = {
    ...(aliases.size > 0 && {aliases: [...aliases].sort()}),
    ...(offer.dated && {dated: true as const}),
  }
  const [only] = offer.periods
  if (offer.periods.length === 1 && only && !only.from && !only.hours)
    return {source: offer.source, ...toTerms(only), ...extra}
  return {source: offer.source, periods: offer.periods.map(toPeriod), ...extra}
}

function toPeriod(period: PricePeriod): PricePeriod {
  return {...(period.from && {from: period.from}), ...(period.hours && {hours: period.hours}), ...toTerms(period)}
}

function toTerms({rates, tiers, units}: Terms): Terms {
  return {
    rates: inOrder(rates),
    ...(tiers && {tiers: tiers.map(tier => ({above: tier.above, rates: inOrder(tier.rates)}))}),
    ...(units && {units: Object.fromEntries(Object.entries(units).sort(byKey))}),
  }
}

function inOrder(rates: Rates): Rates {
  return Object.fromEntries(RATE_NAMES.flatMap(name => (rates[name] === undefined ? [] : [[name, rates[name]]])))
}

/** By code unit: the same on every machine. */
function byKey(one: readonly [string, unknown], other: readonly [string, unknown]): number {
  return one[0] < other[0] ? -1 : one[0] > other[0] ? 1 : 0
}
