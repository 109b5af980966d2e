import {toPico} from '../../pricing/decimal.ts'
import type {ToolPriceList} from '../../schema/tool-prices.ts'

/** The price of one call, by tool. */
export interface ToolPrices {
  readonly default_nanousd: number
  readonly by_tool: ReadonlyMap<string, number>
}

const FREE: ToolPrices = {default_nanousd: 0, by_tool: new Map()}
const PICO_A_NANO = 1000

/** The prices of an integration, exactly as they were written. */
export function toolPrices(list: ToolPriceList | undefined): ToolPrices {
  if (!list) return FREE
  const tools = Object.entries(list.tools ?? {})
  return {
    default_nanousd: nanousd(list.default ?? 0),
    by_tool: new Map(tools.map(([tool, cents]) => [tool, nanousd(cents)])),
  }
}

/** Nano-dollars for one call of a tool. */
export function priceOfTool({default_nanousd, by_tool}: ToolPrices, tool: string): number {
  return by_tool.get(tool) ?? default_nanousd
}

/** Whole: the schema takes no finer price. */
function nanousd(cents: number): number {
  const pico = toPico(cents, 'cents')
  if (pico === undefined || pico % PICO_A_NANO !== 0) throw new Error(`a price of ${cents} cents was kept`)
  return pico / PICO_A_NANO
}
