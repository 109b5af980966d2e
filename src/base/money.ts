/** Nano-dollars as US dollars, to the last digit that is not zero, two at least: `12.50`. */
export function usd(nanousd: bigint): string {
  const digits = String(nanousd < 0n ? -nanousd : nanousd).padStart(10, '0')
  const part = digits.slice(-9).replace(/^(\d\d\d*?)0+$/, '$1')
  return `${nanousd < 0n ? '-' : ''}${digits.slice(0, -9)}.${part}`
}
