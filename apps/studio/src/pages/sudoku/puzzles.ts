/** Example puzzles. The first two have one solution. */
export const puzzles = [
  {
    label: "30 clues",
    text: "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
  },
  {
    label: "17 clues (the minimum)",
    text: ".......1.4.........2...........5.4.7..8...3....1.9....3..4..2...5.1........8.6...",
  },
  { label: "Empty grid", text: ".".repeat(81) },
  {
    label: "Two solutions",
    text: ".5........3....875.96.82...9........1.76.....58...41.23.8.9.4...........62..18..9",
  },
] as const;
