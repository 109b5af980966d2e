import type {TestGateway} from './gateway.ts'

/**
 * The sum over all label sets of one metric of the gateway; `labels`: of those alone that have them, as the page writes
 * them.
 */
export async function scraped(
  gateway: Pick<TestGateway, 'call'>,
  name: string,
  ...labels: readonly string[]
): Promise<number> {
  const page = await (await gateway.call('/metrics')).text()
  const lines = [...page.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, 'gm'))]
  const sum = lines
    .filter(([, set]) => labels.every(label => set!.includes(label)))
    .reduce((sum, [, , value]) => sum + Number(value), 0)
  return Math.round(sum * 1e9) / 1e9
}
