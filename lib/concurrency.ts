/** All items, at most `limit` at a time. */
export async function eachOf<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}

/** The same with results, in the order of the items. */
export async function mapOf<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  await eachOf(items.entries(), limit, async ([index, item]) => {
    results[index] = await work(item);
  });
  return results;
}
