/** Examples that no test can run, and why. */
export const UNRUN: Readonly<Record<string, string>> = {
  'gateway pricing diff https://prices.example.com/list.json': 'asks a host elsewhere',
  'gateway pricing sync https://prices.example.com --provider openai anthropic --from 2030-01-01': 'asks a host elsewhere',
}
