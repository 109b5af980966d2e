import {z} from 'zod'

const MOST_TOOLS = 1000
const MOST_CENTS = 900_000
/** A number that came as JSON is written again in its shortest form, which has an exponent below a millionth alone. */
const WHOLE_NANOUSD = /^(?:\d+(?:\.\d{1,7})?|\de-7)$/

/** US cents for one call, exact to the nano-dollar. */
const Cents = z
  .number()
  .min(0)
  .max(MOST_CENTS)
  .refine(cents => WHOLE_NANOUSD.test(String(cents)), 'expected US cents with at most seven decimals')

/** The prices of the calls of tools: of those that are named, and of all others; none is free. */
export const ToolPriceList = z.strictObject({
  default: Cents.optional(),
  tools: z
    .record(z.string().min(1).max(1024), Cents)
    .refine(tools => Object.keys(tools).length <= MOST_TOOLS, `expected at most ${MOST_TOOLS} tools`)
    .optional(),
})
export type ToolPriceList = z.output<typeof ToolPriceList>
