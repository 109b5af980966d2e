/**
 * Words of usage in the clients' types that change nothing of what is read, by client and by their place in a reply.
 * Every number there is read, stands in the table of informative members, or flags its entry (doors 11). An entry that
 * a reader knows by now fails the test.
 */
export const UNKNOWN_USAGE: Readonly<Record<string, string>> = {
  'openai usage.type': 'informative: which shape the rest has',
  'anthropic usage.fallback_credit.status.type': 'informative: but for redeemed, which is read',
  'anthropic usage.list_cost.currency': 'informative: the currency of what the vendor says it costs',
  'anthropic model_usage.speed': 'informative: the numbers beside it flag the entry',
  'google usageMetadata.serviceTier': 'informative: beside a type of traffic that is read first',
}
