import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {CALL_HEADERS, changeKeys} from '../subjects/gateway.ts'

/** More than a bench can spend, in US dollars. */
const PLENTY_USD = 1_000_000

/** Gives the workspace key a budget, so that everything it spends from now on counts. */
export async function openBudget(origin: string): Promise<void> {
  await changeKeys(origin, {usage_limits: {type: 'cost', credit_limit: PLENTY_USD}})
}

/**
 * Whether the budget knows of exactly what the ledger says was spent, to the nano-dollar, recovered entries included:
 * with that as its limit a call is refused, with one more it is not. Gives sentences; none when it is so.
 */
export async function budgetFaults(origin: string, data_dir: string): Promise<string[]> {
  const spent = spentIn(data_dir)
  const faults: string[] = []
  const statusAt = async (nanousd: number) => {
    await changeKeys(origin, {usage_limits: {type: 'cost', credit_limit: nanousd / 1e9}})
    const reply = await fetch(`${origin}/v1/chat/completions`, {
      method: 'POST',
      headers: {...CALL_HEADERS, 'content-type': 'application/json', 'x-gateway-trace-id': 'budget-check'},
      body: JSON.stringify({
        model: 'gpt-4o-mini',
        user: 'budget-check',
        messages: [{role: 'user', content: 'Count this call.'}],
      }),
    })
    await reply.text()
    return reply.status
  }
  for (const [limit, wanted] of [
    [spent, 412],
    [spent + 1, 200],
  ] as const) {
    const status = await statusAt(limit)
    if (status !== wanted)
      faults.push(
        `with a budget of ${limit} nano-dollars of ${spent} spent a call is answered ${status}, not ${wanted}`,
      )
  }
  return faults
}

function spentIn(data_dir: string): number {
  const db = new Sqlite(join(data_dir, 'traffic.db'), {readonly: true})
  try {
    return (db.prepare('select coalesce(sum(cost_nanousd), 0) as spent from ledger_entries').get() as {spent: number})
      .spent
  } finally {
    db.close()
  }
}
