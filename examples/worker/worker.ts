// A worker in TypeScript that uses only Node itself. SLUICE_SERVER and SLUICE_TOKEN have the URL and the token.
declare const process: { env: Record<string, string | undefined>; pid: number; exit(code: number): never };

interface Call { lease: string; operation: string; key: string; input?: unknown; input_href?: string }
interface Cancel { lease: string; reason: string; grace: number }
type Operation = (call: Call, signal: AbortSignal) => unknown;

const server = process.env.SLUICE_SERVER ?? "http://127.0.0.1:8080";
const name = `typescript-${process.pid}`;
const most = 16; // calls at a time

const operations: Record<string, Operation> = {
  price: (call) => 5 * (call.input as { count: number }).count,
  charge: (call) => `${call.input} for ${call.key}`,
};

const underWay = new Map<string, AbortController>(); // by lease
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Makes a request until the server answers it. */
async function ask(path: string, body?: object): Promise<any> {
  for (;;) {
    try {
      const answer = await fetch(server + path, {
        method: body ? "POST" : "GET",
        headers: { Authorization: `Bearer ${process.env.SLUICE_TOKEN}`, "Content-Type": "application/json" },
        body: body && JSON.stringify({ worker: name, ...body }),
      });
      if (answer.ok) return await answer.json();
      if (answer.status < 500 && answer.status !== 429) {
        console.error(await answer.text());
        process.exit(1);
      }
    } catch {
      // the server does not answer now
    }
    await pause(200);
  }
}

/** Aborts cancelled calls. */
function cancel(list: Cancel[]): void {
  for (const { lease, reason } of list) underWay.get(lease)?.abort(reason);
}

async function carryOut(call: Call): Promise<void> {
  const control = new AbortController();
  underWay.set(call.lease, control);
  const result: Record<string, unknown> = { lease: call.lease };
  try {
    if (call.input_href) call.input = await ask(call.input_href); // a large input
    result.output = await operations[call.operation](call, control.signal);
  } catch (e) {
    result.error = { code: "error", message: String(e), retryable: true };
  }
  cancel((await ask("/v1/worker/give", { results: [result] })).cancel);
  underWay.delete(call.lease);
}

setInterval(async () => {
  const alive = [...underWay.keys()];
  if (alive.length > 0) cancel((await ask("/v1/worker/give", { alive })).cancel);
}, 5000);

for (;;) {
  const max = most - underWay.size;
  if (max === 0) {
    await pause(10);
    continue;
  }
  const taken = await ask("/v1/worker/take", { operations: Object.keys(operations), max, wait: "30s" });
  cancel(taken.cancel);
  for (const call of taken.calls as Call[]) void carryOut(call);
}

export {};
